import { Component, type ComponentChildren } from 'preact';
import { messageOf } from '../api.ts';
import { t } from '../text.ts';
import { Head } from './parts.tsx';

interface Props {
  /** A change of the key tries to draw the page again. */
  readonly at: string;
  readonly children: ComponentChildren;
}

/** Shows an error page if a part of the page fails to draw, so that the page is never blank. */
export class Boundary extends Component<Props, { readonly error?: unknown; readonly at?: string }> {
  override state: { readonly error?: unknown; readonly at?: string } = {};

  static override getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override componentDidUpdate(before: Props): void {
    if (before.at !== this.props.at && this.state.error !== undefined) {
      this.setState({ error: undefined });
    }
  }

  override render() {
    if (this.state.error === undefined) return this.props.children;
    return (
      <>
        <Head
          title={t('The page cannot be shown')}
          about={t('Reload the page. If the error remains, report the message below.')}
        />
        <pre class="callout bad">{messageOf(this.state.error)}</pre>
        <p>
          <button type="button" class="btn primary" onClick={() => location.reload()}>
            {t('Reload')}
          </button>
        </p>
      </>
    );
  }
}
