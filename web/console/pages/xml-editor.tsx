/** Code editor for documents. Elements and attributes come from the readers of the service. */

import { useEffect, useRef } from 'preact/hooks';
import { createEditor, type PrismEditor } from 'prism-code-editor';
import 'prism-code-editor/prism/languages/xml';
import { autoComplete, fuzzyFilter, registerCompletions } from 'prism-code-editor/autocomplete';
import { defaultCommands, editHistory } from 'prism-code-editor/commands';
import { matchTags } from 'prism-code-editor/match-tags';
import { t } from '../text.ts';
import ELEMENTS from '../xml-elements.json';

interface Props {
  readonly value: string;
  readonly set: (value: string) => void;
  /** Receives the function that selects a position. */
  readonly show: { current: ((line: number, column: number) => void) | undefined };
  readonly isInvalid: boolean;
}

interface Completions {
  readonly from: number;
  readonly options: ReadonlyArray<{
    readonly label: string;
    readonly detail?: string;
    readonly insert?: string;
    readonly tabStops?: number[];
  }>;
}

/** Returns what can be completed at the end of `before`: elements, attributes or fixed values. */
function completionsAt(before: string): Completions | undefined {
  const value = /<(\w+)[^<>]*\s([\w-]+)="([^"<]*)$/.exec(before);
  if (value) {
    const [, element = '', attribute = '', typed = ''] = value;
    const known = ELEMENTS.find(({ name }) => name === element);
    const values = known?.attributes.find(({ name }) => name === attribute)?.values ?? [];
    return { from: before.length - typed.length, options: values.map((label) => ({ label })) };
  }
  const attribute = /<(\w+)(?:\s+[\w-]+\s*=\s*(?:"[^"]*"|'[^']*'))*\s+([\w-]*)$/.exec(before);
  if (attribute) {
    const [, element = '', typed = ''] = attribute;
    const known = ELEMENTS.find(({ name }) => name === element)?.attributes ?? [];
    const options = known.map(({ name, about }) => ({
      label: name,
      detail: about,
      insert: `${name}=""`,
      tabStops: [name.length + 2, name.length + 2],
    }));
    return { from: before.length - typed.length, options };
  }
  const tag = /<(\w*)$/.exec(before);
  if (tag === null) return undefined;
  const options = ELEMENTS.map(({ name }) => ({ label: name }));
  return { from: before.length - (tag[1] ?? '').length, options };
}

export function XmlEditor({ value, set, show, isInvalid }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const editor = useRef<PrismEditor | undefined>(undefined);
  useEffect(() => {
    const { current } = place;
    if (current === null) return undefined;
    registerCompletions(['xml'], {
      sources: [({ before }) => completionsAt(before) as never],
    });
    const made = createEditor(
      current,
      { language: 'xml', value, tabSize: 2, insertSpaces: true, wordWrap: true, lineNumbers: true },
      defaultCommands(),
      editHistory(),
      matchTags(),
      autoComplete({ filter: fuzzyFilter, closeOnBlur: true }),
    );
    made.on('update', (next) => set(next));
    made.textarea.setAttribute('aria-label', t('Document'));
    made.textarea.setAttribute('aria-describedby', 'verdict');
    editor.current = made;
    show.current = (line, column) => {
      const before = made.value.split('\n').slice(0, line - 1);
      const at = before.reduce((sum, one) => sum + one.length + 1, 0) + column - 1;
      made.textarea.focus();
      made.textarea.setSelectionRange(at, at + 1);
    };
    return () => {
      show.current = undefined;
      made.remove();
    };
  }, []);
  useEffect(() => {
    editor.current?.textarea.setAttribute('aria-invalid', String(isInvalid));
  }, [isInvalid]);
  return <div class="editor" ref={place} />;
}
