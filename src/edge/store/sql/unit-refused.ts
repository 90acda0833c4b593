/**
 * Rolls back the current unit of work and returns `refusal` as its error value. Used for refusals that are found after the
 * first write; the engine converts it to the unit's result.
 */
export class UnitRefused<E> extends Error {
  readonly refusal: E;

  constructor(refusal: E) {
    super('unit of work refused');
    this.name = 'UnitRefused';
    this.refusal = refusal;
  }
}
