import DefaultTheme from 'vitepress/theme';
import MermaidDiagram from './mermaid-diagram.vue';
import ServiceLink from './service-link.vue';
import './style.css';

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component('MermaidDiagram', MermaidDiagram);
    app.component('ServiceLink', ServiceLink);
  },
};
