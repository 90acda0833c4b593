// Preloaded into a node: shifts its wall clock by WRONG_CLOCK_MS. Durations use the monotonic clock and stay unaffected.
const wrongMs = Number(process.env.WRONG_CLOCK_MS ?? 0);
const RightDate = Date;

globalThis.Date = class WrongDate extends RightDate {
  constructor(...given) {
    if (given.length === 0) super(RightDate.now() + wrongMs);
    else super(...given);
  }

  static now() {
    return RightDate.now() + wrongMs;
  }
};
