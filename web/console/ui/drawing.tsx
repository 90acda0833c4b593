/** Drawings whose unit is one pixel: the text keeps its size, and the drawing scrolls when it does not fit. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

/** Returns a reference for an element and its width in pixels. */
function useWidth<T extends HTMLElement>(initial: number) {
  const place = useRef<T>(null);
  const [width, setWidth] = useState(initial);
  useEffect(() => {
    const { current } = place;
    if (current === null) return undefined;
    const measure = () => setWidth(Math.floor(current.clientWidth));
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(current);
    return () => watch.disconnect();
  }, []);
  return { place, width };
}

interface Props {
  readonly name: string;
  /** Text alternative for screen readers. */
  readonly label: string;
  readonly height: number;
  readonly minWidth: number;
  readonly children: (width: number) => ComponentChildren;
}

export function Drawing({ name, label, height, minWidth, children }: Props) {
  const { place, width } = useWidth<HTMLElement>(minWidth);
  const used = Math.max(minWidth, width);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be reachable by keyboard
    <section class="drawing" aria-label={name} tabIndex={0} ref={place}>
      <svg width={used} height={height} role="img" aria-label={label}>
        {children(used)}
      </svg>
    </section>
  );
}
