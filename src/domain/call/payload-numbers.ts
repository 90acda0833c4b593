import { type Codec, sameCodec } from '../../protocol/sdp/sdp.ts';

const FIRST_DYNAMIC = 96;
const LAST_DYNAMIC = 127;

/** Payload types of one session. A dynamic number keeps its codec for the whole session (RFC 3264 §8.3.2). */
export class PayloadNumbers {
  readonly #meant = new Map<number, Codec>();

  /** Registers the payload types of a peer's description. */
  keep(codecs: readonly Codec[]): void {
    for (const codec of codecs) {
      const { payloadType } = codec;
      if (payloadType >= FIRST_DYNAMIC && !this.#meant.has(payloadType)) {
        this.#meant.set(payloadType, codec);
      }
    }
  }

  copy(): PayloadNumbers {
    const copy = new PayloadNumbers();
    for (const [payloadType, codec] of this.#meant) copy.#meant.set(payloadType, codec);
    return copy;
  }

  /** Returns the codec with its number in this session: the existing one, else the codec's default, else a free one. */
  given(codec: Codec): Codec {
    const { payloadType: usual } = codec;
    if (usual < FIRST_DYNAMIC) return codec;
    for (const [payloadType, known] of this.#meant) {
      if (sameCodec(known, codec)) return { ...codec, payloadType };
    }
    const payloadType = this.#meant.has(usual) ? this.#free(usual) : usual;
    this.#meant.set(payloadType, codec);
    return { ...codec, payloadType };
  }

  #free(usual: number): number {
    for (let number = LAST_DYNAMIC; number >= FIRST_DYNAMIC; number -= 1) {
      if (!this.#meant.has(number)) return number;
    }
    return usual;
  }
}
