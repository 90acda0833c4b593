/** Callbacks for an event. The sender waits for all of them. */
export class Listeners<T> {
  readonly #all: Array<{ readonly act: (reported: T) => Promise<void>; readonly scope: Scope }> =
    [];

  /** Adds a callback. `here`: not called for events of other processes. */
  add(act: (reported: T) => Promise<void>, scope: Scope = 'everywhere'): void {
    this.#all.push({ act, scope });
  }

  async notify(reported: T): Promise<void> {
    await Promise.all(this.#all.map(({ act }) => act(reported)));
  }

  /** Calls the callbacks for an event of another process. */
  async notifyRemote(reported: T): Promise<void> {
    const acts = this.#all.filter(({ scope }) => scope === 'everywhere');
    await Promise.all(acts.map(({ act }) => act(reported)));
  }
}

type Scope = 'everywhere' | 'here';
