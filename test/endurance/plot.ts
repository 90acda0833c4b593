/** A line plot as SVG, without a library: one series over time. */

export interface Point {
  /** Hours since the start. */
  readonly x: number;
  readonly y: number;
}

const WIDTH = 720;
const HEIGHT = 200;
const LEFT = 80;
const BOTTOM = 28;
const TOP = 28;
const TICKS = 4;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

const shown = (value: number): string =>
  value.toLocaleString('en', { maximumFractionDigits: Math.abs(value) < 10 ? 2 : 0 });

/** Plots the points from zero, so that small changes do not look large. */
export function linePlot(title: string, unit: string, points: readonly Point[]): string {
  const lastX = Math.max(1e-9, ...points.map(({ x }) => x));
  const topY = Math.max(1e-9, ...points.map(({ y }) => y)) * 1.1;
  const at = ({ x, y }: Point): string =>
    `${(LEFT + (x / lastX) * (WIDTH - LEFT - 12)).toFixed(1)},${(HEIGHT - BOTTOM - (y / topY) * (HEIGHT - BOTTOM - TOP)).toFixed(1)}`;
  const lines = Array.from({ length: TICKS + 1 }, (_, tick) => {
    const y = (topY * tick) / TICKS;
    const [, height = '0'] = at({ x: 0, y }).split(',');
    return (
      `<line x1="${LEFT}" x2="${WIDTH - 12}" y1="${height}" y2="${height}" stroke="#ddd"/>` +
      `<text x="${LEFT - 6}" y="${Number(height) + 4}" text-anchor="end">${shown(y)}</text>`
    );
  });
  const hours = Array.from({ length: TICKS + 1 }, (_, tick) => {
    const x = (lastX * tick) / TICKS;
    const [across = '0'] = at({ x, y: 0 }).split(',');
    return `<text x="${across}" y="${HEIGHT - 8}" text-anchor="middle">${shown(x)} h</text>`;
  });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="11">` +
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>` +
    `<text x="${LEFT}" y="16" font-size="13">${escaped(title)} (${escaped(unit)})</text>` +
    `${lines.join('')}${hours.join('')}` +
    `<polyline fill="none" stroke="#2457c5" stroke-width="1.5" points="${points.map(at).join(' ')}"/></svg>\n`
  );
}
