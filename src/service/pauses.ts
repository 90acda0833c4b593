/** Several reasons for which no call may begin: the latest that still holds is told. */
export class Pauses {
  readonly #problems = new Map<string, string>();
  readonly #tell: (problem: string | undefined) => void;

  constructor(tell: (problem: string | undefined) => void) {
    this.#tell = tell;
  }

  /** What one part says of itself: a problem, or undefined when it is over. */
  of(part: string): (problem: string | undefined) => void {
    return (problem) => {
      this.#problems.delete(part);
      if (problem !== undefined) this.#problems.set(part, problem);
      this.#tell([...this.#problems.values()].at(-1));
    };
  }
}
