/**
 * Takes back what a unit of work has done so far and answers `refusal` as an error value. For refusals that show only
 * after the first write; the engine turns it into the unit's result.
 */
export class UnitRefused<E> extends Error {
  readonly refusal: E;

  constructor(refusal: E) {
    super('unit of work refused');
    this.name = 'UnitRefused';
    this.refusal = refusal;
  }
}
