import { useLayoutEffect, useRef, useState, type DragEvent, type ReactNode } from 'react';
import type { Place } from '../order';
import { texts } from '../texts';
import { Icon } from './icon';

const t = texts.arrange;
const nameOf = (place: Place) => place.join('.');

/** Moves the item, and returns what a screen reader should say about it. */
type Move = (from: Place, to: Place) => string;

/**
 * Lets people arrange items by drag and by buttons. Items move only among places of the same depth. After a move by
 * button the focus stays with the item, and its new place is announced.
 */
export function useArrange(move: Move) {
  const [dragged, setDragged] = useState<Place | null>(null);
  const [over, setOver] = useState<string | null>(null);
  const [said, setSaid] = useState('');
  const focused = useRef<string | null>(null);
  useLayoutEffect(() => {
    if (focused.current === null) return;
    document.querySelector<HTMLElement>(`[data-mover="${CSS.escape(focused.current)}"]`)?.focus();
    focused.current = null;
  });
  const endDrag = () => {
    setDragged(null);
    setOver(null);
  };
  return {
    /** Announces moves. Render it once. */
    status: (
      <p role="status" className="sr">
        {said}
      </p>
    ),
    /** Moves by button. `mover` names the button, which keeps the focus. */
    move(from: Place, to: Place, mover: string) {
      focused.current = mover;
      setSaid(move(from, to));
    },
    handle: (place: Place) => ({
      draggable: true,
      onDragStart(event: DragEvent<HTMLElement>) {
        event.dataTransfer.effectAllowed = 'move';
        // Not as text, which a field under the pointer would take.
        event.dataTransfer.setData('application/x-place', nameOf(place));
        const item = event.currentTarget.closest('[data-item]');
        if (item) event.dataTransfer.setDragImage(item, 0, 0);
        setDragged(place);
      },
      onDragEnd: endDrag,
    }),
    target: (place: Place) => ({
      'data-over': over === nameOf(place) || undefined,
      onDragOver(event: DragEvent) {
        if (dragged?.length !== place.length) return;
        event.preventDefault();
        event.stopPropagation();
        setOver(nameOf(place));
      },
      onDrop(event: DragEvent) {
        if (dragged?.length !== place.length) return;
        event.preventDefault();
        event.stopPropagation();
        if (nameOf(dragged) !== nameOf(place)) setSaid(move(dragged, place));
        endDrag();
      },
    }),
  };
}
export type Arranging = ReturnType<typeof useArrange>;

interface ToolsProps {
  arranging: Arranging;
  /** Unique among all items of the screen, also after a move. */
  id: string;
  name: string;
  place: Place;
  /** Where the buttons move it; null: nowhere. */
  up: Place | null;
  down: Place | null;
  onRemove: () => void;
  removeLabel: string;
}

/** Handle and buttons of one item. */
export function ArrangeTools({ arranging, id, name, place, up, down, onRemove, removeLabel }: ToolsProps) {
  const button = (direction: 'up' | 'down', to: Place | null) => {
    const mover = `${id} ${direction}`;
    return (
      <button
        type="button"
        className="icon-button"
        // Stays focusable at the end of the list.
        aria-disabled={to === null || undefined}
        aria-label={t[direction](name)}
        data-mover={mover}
        onClick={() => to && arranging.move(place, to, mover)}
        onKeyDown={(event) => {
          const target = event.key === 'ArrowUp' ? up : event.key === 'ArrowDown' ? down : null;
          if (!target) return;
          event.preventDefault();
          arranging.move(place, target, mover);
        }}
      >
        <Icon name={direction} />
      </button>
    );
  };
  return (
    <span className="arrange-tools">
      <span className="drag-handle" aria-hidden="true" title={t.drag} {...arranging.handle(place)}>
        <Icon name="drag" />
      </span>
      {button('up', up)}
      {button('down', down)}
      <button type="button" className="icon-button" aria-label={removeLabel} onClick={onRemove}>
        <Icon name="close" />
      </button>
    </span>
  );
}

/** A perk in a list that can be arranged. */
export const ArrangedItem = ({ children, ...tools }: ToolsProps & { children: ReactNode }) => (
  <li data-item className="arranged" {...tools.arranging.target(tools.place)}>
    {children}
    <ArrangeTools {...tools} />
  </li>
);
