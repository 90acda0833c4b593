/** Who is told when something has happened, and waited for. */
export class Listeners<T> {
  readonly #all: Array<{ readonly act: (told: T) => Promise<void>; readonly scope: Scope }> = [];

  /** `here`: not told of what other processes did. */
  add(act: (told: T) => Promise<void>, scope: Scope = 'everywhere'): void {
    this.#all.push({ act, scope });
  }

  async tell(told: T): Promise<void> {
    await Promise.all(this.#all.map(({ act }) => act(told)));
  }

  /** It has happened in another process. */
  async tellOfElsewhere(told: T): Promise<void> {
    const acts = this.#all.filter(({ scope }) => scope === 'everywhere');
    await Promise.all(acts.map(({ act }) => act(told)));
  }
}

type Scope = 'everywhere' | 'here';
