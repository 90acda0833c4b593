/** Keypad digits of one call, sent as RTP telephone-events (RFC 4733) in the order in which they were pressed. */

/** Duration of a digit, ms. */
const TONE_MS = 100;
/** Pause between two digits, ms. */
const GAP_MS = 70;
/** Digits that may wait; later ones are refused. */
const MAX_WAITING = 64;
const DIGITS = /^[0-9*#A-D]+$/i;

export class DtmfQueue {
  readonly #senderOf: () => RTCDTMFSender | undefined;
  #waiting = '';
  /** The sender that plays digits now. */
  #busy: RTCDTMFSender | undefined;

  /** `senderOf` returns the sender, or undefined while the call has no media. */
  constructor(senderOf: () => RTCDTMFSender | undefined) {
    this.#senderOf = senderOf;
  }

  /** Queues digits. Throws if one is not a keypad digit or the queue is full. */
  add(digits: string): void {
    if (!DIGITS.test(digits)) throw new Error(`${digits} is not a sequence of keypad digits`);
    if (this.#waiting.length + digits.length > MAX_WAITING) {
      throw new Error(`more than ${MAX_WAITING} digits are waiting`);
    }
    this.#waiting += digits;
    this.pump();
  }

  /**
   * Sends the waiting digits if media flows and no digit is playing. `insertDTMF` replaces digits that have not been
   * played, so that the next ones wait for the event that ends the current ones.
   */
  pump(): void {
    const sender = this.#senderOf();
    if (this.#waiting === '' || sender === undefined || !sender.canInsertDTMF) return;
    if (this.#busy === sender) return;
    this.#busy = sender;
    sender.ontonechange = ({ tone }) => {
      if (tone !== '') return;
      this.#busy = undefined;
      this.pump();
    };
    const digits = this.#waiting;
    this.#waiting = '';
    sender.insertDTMF(digits, TONE_MS, GAP_MS);
  }
}
