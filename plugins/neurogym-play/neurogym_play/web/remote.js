// Trials that Python plays on this machine, with the parts of `Kernel` that a page uses.

const ENDED = "The command has ended, or does not answer";

export class RemoteKernel {
  /** Begin the trials of a block, as `neurogym_play.stepwise` describes them. */
  static async begin(trials) {
    const made = new RemoteKernel();
    Object.assign(made, { trials: { ...trials, evidence: trials.evidence && [] }, rows: [], clock: 0 });
    await made.open();
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

  /** Open the WebSocket over which each step is one message and one answer. */
  open() {
    this.socket = new WebSocket(new URL("steps", location.href).href.replace(/^http/, "ws"));
    this.socket.onmessage = ({ data }) => {
      const { said, refused } = JSON.parse(data);
      if (refused) this.reject(new Error(refused));
      else this.resolve(said);
    };
    this.socket.onclose = () => this.reject(new Error(ENDED));
    return this.promise(() => { this.socket.onopen = () => this.resolve(); });
  }

  ask(sent) {
    return this.promise(() => {
      if (this.socket.readyState !== WebSocket.OPEN) this.reject(new Error(ENDED));
      else this.socket.send(JSON.stringify({ to: this.trials.door, sent }));
    });
  }

  /** One request at a time waits for its answer. */
  promise(begin) {
    return new Promise((resolve, reject) => {
      Object.assign(this, { resolve, reject });
      begin();
    });
  }
}
