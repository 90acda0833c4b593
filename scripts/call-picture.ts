/** Draws a call as SVG: the audio of both sides over time, and numbered events of its timeline. */

export interface CallEvent {
  /** Milliseconds from the begin of the recording. */
  readonly atMs: number;
  readonly text: string;
}

export interface CallPicture {
  /** Audio of the caller, and audio that the caller hears, at 8 kHz. */
  readonly left: Int16Array;
  readonly right: Int16Array;
  readonly events: readonly CallEvent[];
}

const WIDTH = 960;
const MARGIN = 12;
const LABELS = 112;
const LANE = 78;
const TOP = 34;
const RATE_HZ = 8000;
/** Full deflection; speech synthesis is quieter than the maximum. */
const LOUDEST = 24_000;
const LEGEND_LINE = 22;

export function callPicture({ left, right, events }: CallPicture): string {
  const durationMs = (left.length / RATE_HZ) * 1000;
  const scale = (WIDTH - LABELS - MARGIN) / durationMs;
  const place = (ms: number): number => Math.round((LABELS + ms * scale) * 10) / 10;
  const bottom = TOP + 2 * LANE;
  const height = bottom + 40 + events.length * LEGEND_LINE;
  const lanes = [
    lane('caller', left, TOP + LANE / 2, '#2563eb', scale),
    lane('bot, colleague', right, TOP + LANE * 1.5, '#059669', scale),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="13">
<title>Audio and timeline of a call with a bot</title>
<rect width="${WIDTH}" height="${height}" rx="8" fill="#ffffff"/>
${lanes.join('\n')}
${seconds(durationMs, place, bottom)}
${events.map((event, i) => marker(place(event.atMs), i, bottom)).join('\n')}
${events.map((event, i) => legend(event, i, bottom + 46)).join('\n')}
</svg>
`;
}

function lane(name: string, samples: Int16Array, middle: number, color: string, scale: number) {
  const columns = Math.floor((samples.length / RATE_HZ) * 1000 * scale);
  const perColumn = samples.length / columns;
  let path = '';
  for (let column = 0; column < columns; column += 1) {
    const part = samples.subarray(column * perColumn, (column + 1) * perColumn);
    const peak = part.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
    const half = Math.max(0.5, Math.min(1, peak / LOUDEST) * (LANE / 2 - 6));
    path += `M${LABELS + column} ${(middle - half).toFixed(1)}V${(middle + half).toFixed(1)}`;
  }
  return `<text x="${MARGIN}" y="${middle + 4}" fill="#334155">${name}</text>
<path d="${path}" stroke="${color}" fill="none"/>`;
}

function seconds(durationMs: number, place: (ms: number) => number, y: number): string {
  const marks: string[] = [];
  for (let ms = 0; ms <= durationMs; ms += 5000) {
    const x = place(ms);
    marks.push(`<path d="M${x} ${y}v5" stroke="#94a3b8"/>
<text x="${x}" y="${y + 19}" text-anchor="middle" fill="#64748b" font-size="11">${ms / 1000} s</text>`);
  }
  return `<path d="M${LABELS} ${y}H${WIDTH - MARGIN}" stroke="#94a3b8"/>\n${marks.join('\n')}`;
}

const marker = (x: number, index: number, bottom: number): string =>
  `<path d="M${x} ${TOP - 8}V${bottom}" stroke="#dc2626" stroke-dasharray="3 3"/>
${numbered(x, TOP - 17, index)}`;

const legend = ({ atMs, text }: CallEvent, index: number, top: number): string => {
  const y = top + index * LEGEND_LINE;
  return `${numbered(MARGIN + 9, y - 4, index)}
<text x="${MARGIN + 28}" y="${y}" fill="#334155">${(atMs / 1000).toFixed(1)} s</text>
<text x="${LABELS}" y="${y}" fill="#0f172a">${text}</text>`;
};

const numbered = (x: number, y: number, index: number): string =>
  `<circle cx="${x}" cy="${y}" r="9" fill="#dc2626"/>
<text x="${x}" y="${y + 4}" text-anchor="middle" fill="#ffffff" font-size="11">${index + 1}</text>`;
