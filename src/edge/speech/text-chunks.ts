/** Splits long text into pieces, so that the first words play while the rest is synthesized. */
import { pieces } from '../../base/text.ts';

/** Maximum length of the first piece, short for a fast start. Later pieces are long enough to sound continuous. */
const FIRST_PIECE_CHARS = 120;
const PIECE_CHARS = 300;
/** Longer sentences are split between words. */
const MAX_SENTENCE_CHARS = 500;

export function chunksOf(text: string, language: string): readonly string[] {
  const found: string[] = [];
  let piece = '';
  for (const sentence of sentences(text, language)) {
    const limit = found.length === 0 ? FIRST_PIECE_CHARS : PIECE_CHARS;
    if (piece !== '' && piece.length + sentence.length + 1 > limit) {
      found.push(piece);
      piece = '';
    }
    piece = piece === '' ? sentence : `${piece} ${sentence}`;
  }
  if (piece !== '') found.push(piece);
  return found;
}

function sentences(text: string, language: string): string[] {
  const segmenter = new Intl.Segmenter(knownLocale(language), { granularity: 'sentence' });
  return [...segmenter.segment(text)]
    .map(({ segment }) => segment.trim())
    .filter((sentence) => sentence !== '')
    .flatMap((sentence) => pieces(sentence, MAX_SENTENCE_CHARS));
}

function knownLocale(language: string): string {
  try {
    return Intl.getCanonicalLocales(language.replace('_', '-'))[0] ?? 'en';
  } catch {
    return 'en';
  }
}
