import type { Call } from '../call/call.ts';
import type { Interpreter } from '../interpreter/interpreter.ts';

/** Interpreters of live calls, for transfers. */
export class Scripts {
  readonly #byCall = new WeakMap<Call, Interpreter>();

  add(call: Call, script: Interpreter): void {
    this.#byCall.set(call, script);
  }

  of(call: Call): Interpreter | undefined {
    return this.#byCall.get(call);
  }
}
