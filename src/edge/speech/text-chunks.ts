/** Splits long text into pieces, so that the first words play while the rest is synthesized. */

/** Maximum length of the first piece, short for a fast start. Later pieces are long enough to sound continuous. */
const FIRST_PIECE_CHARS = 120;
const PIECE_CHARS = 300;
/** Longer sentences are split between words. */
const MAX_SENTENCE_CHARS = 500;

export function chunksOf(text: string, language: string): readonly string[] {
  const pieces: string[] = [];
  let piece = '';
  for (const sentence of sentences(text, language)) {
    const limit = pieces.length === 0 ? FIRST_PIECE_CHARS : PIECE_CHARS;
    if (piece !== '' && piece.length + sentence.length + 1 > limit) {
      pieces.push(piece);
      piece = '';
    }
    piece = piece === '' ? sentence : `${piece} ${sentence}`;
  }
  if (piece !== '') pieces.push(piece);
  return pieces;
}

function sentences(text: string, language: string): string[] {
  const segmenter = new Intl.Segmenter(knownLocale(language), { granularity: 'sentence' });
  return [...segmenter.segment(text)]
    .map(({ segment }) => segment.trim())
    .filter((sentence) => sentence !== '')
    .flatMap(cutAtWords);
}

function cutAtWords(sentence: string): string[] {
  const parts: string[] = [];
  let rest = sentence;
  while (rest.length > MAX_SENTENCE_CHARS) {
    const space = rest.lastIndexOf(' ', MAX_SENTENCE_CHARS);
    const at = space > 0 ? space : MAX_SENTENCE_CHARS;
    parts.push(rest.slice(0, at));
    rest = rest.slice(at).trim();
  }
  return rest === '' ? parts : [...parts, rest];
}

function knownLocale(language: string): string {
  try {
    return Intl.getCanonicalLocales(language.replace('_', '-'))[0] ?? 'en';
  } catch {
    return 'en';
  }
}
