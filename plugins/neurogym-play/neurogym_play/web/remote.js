// Trials that Python plays on this machine, with the parts of `Kernel` that a page uses.

export class RemoteKernel {
  /** Begin the trials of a block, as `neurogym_play.stepwise` describes them. */
  static async begin(trials) {
    const made = new RemoteKernel();
    Object.assign(made, { trials: { ...trials, evidence: trials.evidence && [] }, rows: [], clock: 0 });
    made.take(await made.ask(null));
    return made;
  }

  get done() { return this.rows.length >= this.trials.n_trials; }

  get trial() { return this.rows.length; }

  observe() { return this.seen; }

  async step(action) {
    const { reward, row, evidence, ...shown } = await this.ask({ step: this.clock++, action });
    if (row) {
      const missing = Object.entries(row).map(([name, value]) => [name, value ?? NaN]);
      this.rows.push(Object.fromEntries(missing));
      this.trials.evidence?.push(evidence);
    }
    this.take(shown);
    return { reward, ended: Boolean(row) };
  }

  take({ seen, exact, asked }) { [this.seen, this.exact, this.isAsked] = [seen, exact, asked]; }

  async ask(sent) {
    const answer = await fetch(this.trials.door, { method: "POST", body: JSON.stringify(sent), headers: { "Content-Type": "application/json" } });
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json();
  }
}
