/** The direction of dependencies; see ARCHITECTURE.md. `scripts/check.mjs` proves on a planted violation that this file still bites. */
const io =
  '^(node:)?(dgram|net|tls|http|https|http2|fs|fs/promises|dns|dns/promises|child_process|worker_threads|timers|timers/promises|os|perf_hooks)$';
const frontDoor = '^src/(protocol|domain)/([^/]+)/(\\2|needs|types)\\.ts$';
/** npm packages that do no I/O and may stand on the pure floors. */
const pureNpm = 'node_modules/(alawmulaw|fast-xml-parser|libphonenumber-js|temporal-polyfill)/';
const rule = (name, from, to, comment) => ({ name, comment, severity: 'error', from, to });
module.exports = {
  forbidden: [
    rule(
      'no-cycles',
      {},
      { circular: true },
      'of types neither: a file that needs one names what it needs',
    ),
    rule('base-is-the-ground-floor', { path: '^src/base/' }, { path: '^src/(?!base/)' }),
    rule(
      'protocol-knows-only-base',
      { path: '^src/protocol/' },
      { path: '^src/(?!base/|protocol/)' },
    ),
    rule(
      'protocol-modules-are-apart',
      { path: '^src/protocol/([^/]+)/' },
      { path: '^src/protocol/', pathNot: '^src/protocol/$1/' },
    ),
    rule(
      'domain-knows-no-edge',
      { path: '^src/domain/' },
      { path: '^src/(?!base/|protocol/|domain/)' },
    ),
    rule(
      'only-edge-sip-speaks-sip',
      {
        path: '^src/',
        pathNot: '^(src/protocol/sip/|src/domain/registration/|src/edge/sip/|src/phone/)',
      },
      // The names and properties of the transports are no protocol.
      { path: '^src/protocol/sip/', pathNot: '^src/protocol/sip/types\\.ts$' },
    ),
    rule(
      'edges-are-apart',
      { path: '^src/edge/([^/]+)/' },
      { path: '^src/edge/', pathNot: '^src/edge/$1/' },
    ),
    rule(
      'enter-by-the-front-door',
      { path: '^src/(base|protocol|domain|edge)/([^/]+)/' },
      { path: '^src/(protocol|domain)/', pathNot: ['^src/$1/$2/', frontDoor] },
    ),
    rule(
      'only-edges-do-io',
      { path: '^src/(base|protocol|domain)/' },
      { path: io },
      'pure floors are told the time and handed bytes',
    ),
    rule(
      'pure-floors-have-no-npm',
      { path: '^src/(base|protocol|domain)/' },
      { dependencyTypes: ['npm', 'npm-dev', 'npm-optional'], pathNot: pureNpm },
    ),
    rule(
      'pure-floors-are-handed-randomness',
      { path: '^src/(base|protocol|domain)/' },
      { path: '^src/base/system-random' },
    ),
    rule(
      'only-compose-wires',
      { path: '^src/(?!compose\\.ts|main\\.ts)' },
      { path: '^src/(compose|main)\\.ts$' },
    ),
    rule(
      'only-store-knows-sql',
      { path: '^src/', pathNot: '^src/edge/store/' },
      { path: 'node_modules/(better-sqlite3|kysely|pg)/' },
    ),
    rule('only-the-command-line-is-a-client', { path: '^src/(?!cli/)' }, { path: '^packages/' }),
    rule('packages-stand-alone', { path: '^packages/([^/]+)/' }, { pathNot: '^packages/$1/' }),
    rule('src-never-sees-test', { path: '^src/' }, { path: '^test/' }),
    // The page imports the phone from the URL that customer pages use.
    rule('no-unresolvable', {}, { couldNotResolve: true, pathNot: '^/phone\\.js$' }),
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    // Packages that export for `import` alone (typebox) are resolved as Node does.
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
    },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(build|data)/' },
  },
};
