import { formatNumber, formatShare } from '../format';
import { texts } from '../texts';

const t = texts.outcome;

interface Props {
  countOf: (measure: 'journeys' | 'clickers' | 'converters' | 'gift_only_recipients') => number;
}

/**
 * Says how many journeys clicked and converted. Both are shares of all journeys: a server may report the conversion of a
 * journey that never clicked. Journeys that got only a reward link lower both.
 */
export function Outcome({ countOf }: Props) {
  const [journeys, clickers, converters] = [countOf('journeys'), countOf('clickers'), countOf('converters')];
  const linkOnly = countOf('gift_only_recipients');
  return (
    <>
      <b>{t.clicked(formatNumber(clickers), formatNumber(journeys))}</b> ({formatShare(clickers, journeys)}){' '}
      {t.and} <b>{t.converted(formatNumber(converters), formatNumber(journeys))}</b> (
      {formatShare(converters, journeys)}).
      {linkOnly > 0 && ` ${t.linkOnly(formatNumber(linkOnly), formatShare(clickers, journeys - linkOnly))}`}
    </>
  );
}
