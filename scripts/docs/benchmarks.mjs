/** The report of the benchmarks as markdown: the latest figure of each, with a plot of each group. */

export const TITLES = {
  calls: 'Whole calls with signalling',
  'sip-transports': 'Signalling by transport',
  'sip-parse': 'SIP messages',
  'answer-xml': 'Answer XML',
  media: 'Media',
  stream: 'Audio streams',
  outbound: 'Outbound calls over REST',
  rest: 'REST',
  ledger: 'Ledger',
  campaigns: 'Campaigns',
  webrtc: 'Browsers',
  hearing: 'What is heard over a bad network',
  srtp: 'SRTP',
  'sip-call': 'SIP of one call, without sockets',
  cluster: 'Many nodes',
};
const WIDTH = 700;
const ROW = 22;
const LABEL = 380;

/** `results`: lines of bench/results, oldest first. */
export function benchmarkReport(results) {
  const latest = new Map();
  for (const result of results) {
    if (result.quick || TITLES[result.bench] === undefined) continue;
    latest.set(`${result.bench}|${result.name}|${result.unit}`, result);
  }
  const rows = [...latest.values()];
  const machines = [...new Set(rows.map(({ cpu, cores }) => `${cpu}, ${cores} cores`))];
  return [
    '# Benchmarks',
    '',
    `Made from \`bench/results\`: the latest figure of each, measured on ${machines.join('; ')}, the load on the same machine. Ratios count more than figures.`,
    '`npm run bench -- NAME` measures again and adds a line. Grey bars are the floor of the same run: the least that any program would need for it.',
    '',
    ...Object.keys(TITLES).flatMap((bench) => section(bench, rows)),
  ].join('\n');
}

function section(bench, all) {
  const rows = all.filter((row) => row.bench === bench);
  if (rows.length === 0) return [];
  const units = [...new Set(rows.map(({ unit }) => unit))];
  return [
    `## ${TITLES[bench]}`,
    '',
    ...units.flatMap((unit) => [
      plot(
        rows.filter((row) => row.unit === unit),
        unit,
      ),
      '',
    ]),
    '| what | figure | when | note |',
    '|-|-|-|-|',
    ...rows.map(
      ({ name, value, unit, at, note = '' }) =>
        `| ${cell(name)} | ${figure(value)} ${unit} | ${at.slice(0, 10)} | ${cell(note)} |`,
    ),
    '',
  ];
}

function plot(rows, unit) {
  const most = Math.max(...rows.flatMap(({ value, floor = 0 }) => [value, floor]), Number.EPSILON);
  const bars = rows.map(({ name, value, floor }, index) => {
    const y = index * ROW;
    const of = (amount) => Math.max(1, (amount / most) * (WIDTH - LABEL - 110)).toFixed(1);
    const below =
      floor === undefined
        ? ''
        : `<rect class="floor" x="${LABEL}" y="${y + 13}" width="${of(floor)}" height="4"/>`;
    return `<text x="0" y="${y + 14}">${html(short(name))}</text><rect x="${LABEL}" y="${y + 4}" width="${of(value)}" height="9"/>${below}<text x="${LABEL + Number(of(value)) + 6}" y="${y + 14}">${figure(value)} ${html(unit)}</text>`;
  });
  return `<svg viewBox="0 0 ${WIDTH} ${rows.length * ROW + 4}" width="100%" role="img">${bars.join('')}</svg>`;
}

const figure = (value) =>
  Math.abs(value) >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
const short = (name) => (name.length > 60 ? `${name.slice(0, 58)}…` : name);
const html = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const cell = (text) => html(text).replaceAll('|', '\\|');
