// Pages of the site in the order of the sidebar. `path`: address below /docs/guide and, with `.md`, file in docs/.
// `file`: path from the project's root, for pages that are not in docs/.

export const SECTIONS = [
  {
    title: 'Start',
    nav: true,
    pages: [
      { title: 'Install', path: 'start/install' },
      { title: 'First call', path: 'start/first-call' },
      { title: 'First bot', path: 'start/first-bot' },
      { title: 'Concepts', path: 'start/concepts' },
    ],
  },
  {
    title: 'Guides',
    nav: true,
    pages: [
      { title: 'Phones and browsers', path: 'guides/phones' },
      { title: 'Carriers and trunks', path: 'guides/carriers' },
      { title: 'Voice bots', path: 'guides/bots' },
      { title: 'Agents', path: 'guides/agents' },
      { title: 'Rehearsals', path: 'guides/rehearsals' },
      { title: 'Model Context Protocol', path: 'guides/mcp' },
      { title: 'Speech', path: 'guides/speech' },
      { title: 'Campaigns', path: 'guides/campaigns' },
      { title: 'Multi-party calls and queues', path: 'guides/multi-party' },
      { title: 'Migrate from Plivo', path: 'guides/plivo' },
      { title: 'Migrate from Vobiz', path: 'guides/vobiz' },
      { title: 'Clusters', path: 'guides/clusters' },
      { title: 'Edge proxy (Kamailio)', path: 'guides/edge-proxy' },
      { title: 'SIP over drachtio-server', path: 'guides/drachtio' },
      { title: 'Load tests with SIPp', path: 'guides/load-testing' },
      { title: 'Examples', path: 'guides/examples', file: 'examples/README.md' },
      { title: 'LiveKit Agents', path: 'guides/livekit', file: 'examples/livekit/README.md' },
      { title: 'WhatsApp calls', path: 'guides/whatsapp', file: 'examples/whatsapp/README.md' },
    ],
  },
  {
    title: 'Reference',
    nav: true,
    pages: [
      { title: 'Answer XML', path: 'reference/xml' },
      { title: 'REST API', path: 'reference/rest' },
      { title: 'Callbacks and signatures', path: 'reference/callbacks' },
      { title: 'Stream protocol', path: 'reference/stream-protocol' },
      { title: 'Call behavior', path: 'reference/calls' },
      { title: 'Codecs and SRTP', path: 'reference/codecs' },
      { title: 'Command line', path: 'reference/cli' },
      { title: 'Settings', path: 'reference/settings' },
      { title: 'Metrics', path: 'reference/metrics' },
      { title: 'Errors and limits', path: 'reference/limits' },
      { title: 'RFCs', path: 'reference/rfcs' },
      { title: 'TypeScript client', path: 'reference/client', file: 'packages/client/README.md' },
      { title: 'Python client', path: 'reference/python', file: 'packages/python/README.md' },
    ],
  },
  {
    title: 'Operate',
    nav: true,
    pages: [
      { title: 'Install on a server', path: 'operate/install' },
      { title: 'Upgrade', path: 'operate/upgrade' },
      { title: 'Backup and restore', path: 'operate/backup' },
      { title: 'Privacy', path: 'operate/privacy' },
      { title: 'Monitoring', path: 'operate/monitoring' },
      { title: 'Console', path: 'operate/console' },
      { title: 'Security', path: 'operate/security', file: 'SECURITY.md' },
      { title: 'Troubleshooting', path: 'operate/troubleshooting' },
      { title: 'Capacity planning', path: 'operate/capacity' },
      { title: 'PostgreSQL', path: 'operate/postgres' },
    ],
  },
  {
    title: 'Internals',
    nav: false,
    pages: [
      { title: 'Architecture', path: 'internals/architecture', file: 'ARCHITECTURE.md' },
      { title: 'Performance', path: 'performance' },
      { title: 'Testing', path: 'internals/testing' },
      { title: 'Reliability', path: 'internals/reliability' },
      { title: 'Media performance', path: 'internals/media-performance' },
      { title: 'Events of model vendors', path: 'internals/vendor-events' },
      { title: 'Console design', path: 'internals/console' },
      { title: 'Console and REST API', path: 'internals/console-routes' },
      { title: 'Dependencies', path: 'internals/dependencies' },
      { title: 'Comparison', path: 'internals/comparison' },
      { title: 'Contributing', path: 'internals/contributing', file: 'CONTRIBUTING.md' },
      { title: 'Changelog', path: 'changelog', file: 'CHANGELOG.md' },
    ],
  },
];

/** Every page with its title, address and file. */
export const PAGES = SECTIONS.flatMap(({ pages }) =>
  pages.map((page) => ({ file: `docs/${page.path}.md`, ...page })),
);
