/** Splits streamed text into sentences for speech synthesis. */

/** Minimum length of a sentence, so that "Mr." or "1." does not become one. */
const LEAST_CHARS = 12;
/** Length after which a comma or space also ends a piece; without one, the piece ends there. */
const LONG_CHARS = 180;
/** In Chinese and Japanese, no space follows a stop. */
const END = /[.!?…।॥؟۔](?=["')\]]*\s)|[。！？][」』”’）]*/g;
const PAUSES = [',', '，', '、', '；', '،', ' '];

export class Sentences {
  #text = '';

  /** Adds text and returns the sentences that are complete. */
  add(text: string): readonly string[] {
    this.#text += text;
    const complete: string[] = [];
    for (let end = this.#endOf(); end > 0; end = this.#endOf()) {
      complete.push(this.#text.slice(0, end).trim());
      this.#text = this.#text.slice(end);
    }
    return complete.filter((sentence) => sentence !== '');
  }

  /** Returns the remaining text. */
  rest(): readonly string[] {
    const rest = this.#text.trim();
    this.#text = '';
    return rest === '' ? [] : [rest];
  }

  #endOf(): number {
    for (const { index, 0: stop } of this.#text.matchAll(END)) {
      if (index + stop.length >= LEAST_CHARS) return index + stop.length;
    }
    if (this.#text.length <= LONG_CHARS) return 0;
    const pause = Math.max(...PAUSES.map((sign) => this.#text.lastIndexOf(sign, LONG_CHARS)));
    return pause >= LEAST_CHARS ? pause + 1 : LONG_CHARS;
  }
}
