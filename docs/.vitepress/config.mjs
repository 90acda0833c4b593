// Configuration of the documentation site (VitePress). `scripts/docs.mjs` copies this folder and the pages into build/docs-source
// and builds there, because some pages are files at the root of the project.
import { defineConfig } from 'vitepress';
import { SECTIONS } from './pages.mjs';

/** Address of the repository's files for "Edit this page" links, for example `https://git.example/carillon/edit/main`. */
const editBase = process.env.CARILLON_DOCS_EDIT_URL;

const sidebar = SECTIONS.map(({ title, pages }) => ({
  text: title,
  collapsed: false,
  items: pages.map(({ title: text, path }) => ({ text, link: `/${path}` })),
}));

export default defineConfig({
  title: 'Carillon',
  description: 'Self-hosted programmable voice platform: SIP, RTP, answer XML, audio streams and a REST API.',
  base: '/docs/guide/',
  outDir: process.env.CARILLON_DOCS_OUT,
  cleanUrls: true,
  // One copy of the page list for all pages instead of one in each page.
  metaChunk: true,
  appearance: true,
  lastUpdated: false,
  ignoreDeadLinks: [/^https?:\/\/(127\.0\.0\.1|localhost)/],
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  markdown: {
    // Angle brackets in the pages are text: placeholders such as <number>.
    html: false,
    config(md) {
      const linkOpen = md.renderer.rules.link_open;
      md.renderer.rules.link_open = (...args) => {
        const [tokens, at, options, , self] = args;
        const token = tokens[at];
        const href = token.attrGet('href') ?? '';
        if (!href.startsWith('service:')) return linkOpen(...args);
        // A page of the running service, outside this site.
        token.attrSet('href', href.slice('service:'.length));
        token.attrSet('target', '_self');
        return self.renderToken(tokens, at, options);
      };
      const image = md.renderer.rules.image;
      md.renderer.rules.image = (...args) => {
        const [tokens, at] = args;
        const source = tokens[at].attrGet('src') ?? '';
        if (!source.endsWith('.mp3')) return image(...args);
        const label = md.utils.escapeHtml(tokens[at].content);
        return `<audio controls preload="none" aria-label="${label}"><source src="${source}" type="audio/mpeg"></audio>`;
      };
      const fence = md.renderer.rules.fence;
      md.renderer.rules.fence = (...args) => {
        const [tokens, at] = args;
        const token = tokens[at];
        if (token.info.trim() === 'mermaid')
          return `<MermaidDiagram code="${encodeURIComponent(token.content)}" />`;
        // `sh run` marks blocks that the tests execute; readers see plain shell.
        if (token.info.startsWith('sh ')) token.info = 'sh';
        return fence(...args);
      };
    },
  },
  themeConfig: {
    nav: [
      ...SECTIONS.filter(({ nav }) => nav).map(({ title, pages }) => ({
        text: title,
        link: `/${pages[0].path}`,
      })),
      {
        text: 'This service',
        items: [
          { component: 'ServiceLink', props: { text: 'REST API', href: '/docs' } },
          { component: 'ServiceLink', props: { text: 'Console', href: '/console' } },
          { component: 'ServiceLink', props: { text: 'Browser phone', href: '/phone' } },
        ],
      },
    ],
    sidebar,
    outline: [2, 3],
    search: { provider: 'local' },
    ...(editBase && { editLink: { pattern: ({ frontmatter }) => `${editBase}/${frontmatter.source}` } }),
  },
});
