import { useEffect, useState } from 'react';
import type { Pool } from '../api/types';
import { mailingOf } from '../mailing';
import { lazy } from '../parts/lazy';
import { useSearchFilters } from '../parts/search-filters';
import { texts } from '../texts';

const t = texts.giftCards;
const MakeLinks = lazy(() => import('./make-links'), null);

/**
 * Returns the buttons that make one link or many, and the dialog that they open. The dialog stands apart from them,
 * because it shows a link only once and the buttons may go when there is a first link. The parameters `make=many` and
 * `campaign` of the URL open the form for many links, with the campaign chosen. If `send` is the same campaign, the links
 * get the UTM parameters of its mailing.
 */
export function useMakeLinks(pools: Pool[] | undefined) {
  const { valueOf, set } = useSearchFilters();
  const [making, setMaking] = useState<'one' | 'many' | null>(valueOf('make') === 'many' ? 'many' : null);
  const campaignId = valueOf('campaign');
  const isForMailing = campaignId !== '' && valueOf('send') === campaignId;
  const close = () => {
    setMaking(null);
    // Setting a filter drops the hash.
    for (const name of ['make', 'campaign']) if (valueOf(name)) set(name, '');
  };
  useEffect(() => {
    // There is no form without a pool, and the form must not open by itself once there is a pool.
    if (making && pools?.length === 0) close();
  }, [pools]);
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
    dialog: making && pools && pools.length > 0 && (
      <MakeLinks
        kind={making}
        pools={pools}
        campaignId={campaignId}
        mailingUtm={isForMailing ? mailingOf(valueOf).utm : null}
        onClose={close}
      />
    ),
  };
}
