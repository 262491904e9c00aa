/**
 * Called once at the end, with the data of jsPsych and the name of the subject. Returns the sentence that the person reads.
 *
 * Nothing is sent as it stands. To keep the data on your server, send `data.json()` to it here, for example:
 *
 *   const answer = await fetch("/data", { method: "POST", body: data.json(), headers: { "Content-Type": "application/json" } });
 *   return answer.ok ? "Your answers were saved." : "Your answers could not be saved. Please download them.";
 */
export async function save(data, subject) {
  return "Please download your data, and give the file to the experimenter.";
}
