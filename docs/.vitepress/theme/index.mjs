import DefaultTheme from 'vitepress/theme';
import MermaidDiagram from './mermaid-diagram.vue';
import './style.css';

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component('MermaidDiagram', MermaidDiagram);
  },
};
