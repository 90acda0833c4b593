/** A parser of untrusted bytes. */
export interface FuzzTarget {
  readonly name: string;
  /** Number of inputs in the short test. */
  readonly runs: number;
  seeds(): Promise<readonly Uint8Array[]>;
  run(input: Uint8Array): Promise<void>;
}
