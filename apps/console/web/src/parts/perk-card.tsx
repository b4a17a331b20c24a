import type { ReactNode } from 'react';
import type { Place } from '../api/types';
import { texts } from '../texts';
import { PerkPicture } from './perk-picture';
import '../styles/perks.css';

const t = texts.perks;

interface Props {
  title: string;
  callout: string;
  description: string;
  redemptionNote: string;
  details: string;
  partner: string;
  banner?: string | null;
  logo?: string | null;
  categories: string[];
  places: Place[];
  coupon?: string;
  isCouponPerk?: boolean;
  metadata: string;
  figures?: ReactNode;
}

/**
 * Shows a perk as a customer would see it, and below it what only the account sees. It does not link to the offer,
 * because that would count a click.
 */
export function PerkCard(perk: Props) {
  return (
    <article className="perk-card">
      <PerkPicture size="wide" src={perk.banner ?? perk.logo} name={perk.title || perk.partner} />
      <div className="perk-body">
        <p className="perk-callout">{perk.callout}</p>
        {perk.title && <h3>{perk.title}</h3>}
        <p className="hint">
          {perk.partner}
          {perk.categories.length > 0 && ` · ${perk.categories.join(', ')}`}
        </p>
        <p>{perk.description}</p>
        <p className="actions">
          <span className="badge">
            {perk.coupon ? t.kinds.coupon : perk.isCouponPerk ? t.kinds.single : t.kinds.auto}
          </span>
          {perk.coupon && <code>{t.code(perk.coupon)}</code>}
        </p>
        {perk.figures && <p className="hint">{perk.figures}</p>}
        <details>
          <summary>{t.details}</summary>
          <div className="stack hint">
            <p>{perk.redemptionNote}</p>
            <p className="lines">{perk.details}</p>
            <p>
              {perk.places.length === 0
                ? t.everywhere
                : t.where(
                    perk.places
                      .map(({ country, region, city }) => [city, region, country].filter(Boolean).join(', '))
                      .join('; '),
                  )}
            </p>
            {perk.metadata && (
              <p>
                {t.offer}: {perk.metadata}
              </p>
            )}
          </div>
        </details>
      </div>
    </article>
  );
}
