// Scores of the search: pages that explain come before references, and titles before texts.
var Scorer = {
  score: (item) => {
    const [page, title, , , score, , kind] = item;
    // The anchor of an entry is empty: the summary is that of the page.
    if (kind === "index") item[2] = "";
    const reference = /^(docs\/(api|command-line|architecture|discovery|publishing|threat-model)|packages\/|plugins\/|registry\/|CONTRIBUTING)/;
    const guide = /^(README|cite|docs\/)/;
    let found = score;
    if (reference.test(page)) found -= kind === "index" ? 0 : 4;
    else if (guide.test(page)) found += 3;
    if (kind === "title" && !title.includes(" > ")) found += 8;
    return found;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
