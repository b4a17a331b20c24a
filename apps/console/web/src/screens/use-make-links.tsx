import { useState } from 'react';
import type { Pool } from '../api/types';
import { lazy } from '../parts/lazy';
import { texts } from '../texts';

const t = texts.giftCards;
const MakeLinks = lazy(() => import('./make-links'), null);

/**
 * Returns the buttons that make one link or many, and the dialog that they open. The dialog stands apart from them, because it
 * shows a link only once and the buttons may go when there is a first link.
 */
export function useMakeLinks(pools: Pool[] | undefined) {
  const [making, setMaking] = useState<'one' | 'many' | null>(null);
  const button = (kind: 'one' | 'many') => (
    <button
      type="button"
      className={kind === 'one' ? 'button' : 'button main'}
      disabled={!pools?.length}
      onClick={() => setMaking(kind)}
    >
      {kind === 'one' ? t.makeOne : t.makeMany}
    </button>
  );
  return {
    buttons: (
      <>
        {button('one')}
        {button('many')}
      </>
    ),
    dialog: making && pools && <MakeLinks kind={making} pools={pools} onClose={() => setMaking(null)} />,
  };
}
