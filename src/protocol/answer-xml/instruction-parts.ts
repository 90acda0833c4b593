/** Parts of instructions. */

export type XmlHttpMethod = 'GET' | 'POST';
export type XmlPairs = ReadonlyArray<readonly [name: string, value: string]>;

/** Content without effect, or with an effect that the author may not expect. It is written to the call's log. */
export interface XmlWarning {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export interface Sourced {
  /** Line of the element's start tag, starting at 1. */
  readonly line: number;
  /** Warnings about the element and its children, in document order. */
  readonly warnings: readonly XmlWarning[];
}

/** Callback to an `action` URL and the use of its response (dialect §2.0). */
export interface WithAction {
  readonly action: string | undefined;
  readonly method: XmlHttpMethod;
  /** True if the XML that `action` returns replaces the rest of the document. */
  readonly redirect: boolean;
}

export interface WithCallback {
  readonly callbackUrl: string | undefined;
  readonly callbackMethod: XmlHttpMethod;
}
