/** Renders terminal output as an animated SVG (SMIL, without scripts) that plays once. */

export interface Shown {
  readonly atMs: number;
  readonly text: string;
  /** Whether a user typed the line. */
  readonly isTyped?: boolean;
}

const LINE = 17;
const SIGN = 7.8;
const EDGE = 16;
const ROWS = 30;
const COLUMNS = 132;
/** Maximum pause in ms; longer pauses are shortened. */
const PAUSE_MS = 1200;

/** Renders the lines. They scroll off the top as in a terminal. */
export function terminalSvg(shown: readonly Shown[]): string {
  const lines = shown
    .filter(({ text }, at) => text !== '' || (shown[at - 1]?.text ?? '') !== '')
    .flatMap(wrapped);
  const times = shortened(lines);
  const [width, height] = [2 * EDGE + COLUMNS * SIGN, 2 * EDGE + ROWS * LINE];
  const texts = lines.map(({ text, isTyped }, at) => {
    const y = EDGE + (at + 1) * LINE - 5;
    const colour = isTyped ? '#8fd18f' : '#d8dee9';
    const show = `<set attributeName="visibility" to="visible" begin="${times[at]}s" fill="freeze"/>`;
    return `<text x="${EDGE}" y="${y}" xml:space="preserve" visibility="hidden" style="fill:${colour}">${escaped(text)}${show}</text>`;
  });
  const scrolls = lines.flatMap((_, at) => {
    const over = at + 1 - ROWS;
    return over <= 0
      ? []
      : [
          `<animateTransform attributeName="transform" type="translate" to="0 ${-over * LINE}" dur="0.01s" begin="${times[at]}s" fill="freeze"/>`,
        ];
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="Terminal: npm start, npm run call">
<rect width="${width}" height="${height}" rx="8" style="fill:#1d2430"/>
<svg x="0" y="${EDGE}" width="${width}" height="${ROWS * LINE}"><g transform="translate(0 0)" style="font:13px ui-monospace,Menlo,Consolas,monospace"><g transform="translate(0 ${-EDGE})">
${texts.join('\n')}
</g>${scrolls.join('')}</g></svg>
</svg>
`;
}

function wrapped({ text, ...rest }: Shown): readonly Shown[] {
  const parts: Shown[] = [];
  for (let from = 0; from === 0 || from < text.length; from += COLUMNS)
    parts.push({ ...rest, text: text.slice(from, from + COLUMNS) });
  return parts;
}

/** Seconds from the beginning, with one decimal less than anybody sees. */
function shortened(lines: readonly Shown[]): readonly string[] {
  let [last, now] = [0, 0.3];
  return lines.map(({ atMs }) => {
    now += Math.min(PAUSE_MS, Math.max(0, atMs - last)) / 1000;
    last = atMs;
    return now.toFixed(2);
  });
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
