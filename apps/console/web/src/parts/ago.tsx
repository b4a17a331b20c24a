import { formatAgo, formatMoment } from '../format';

/** How long ago something was, with its time below the pointer. */
export const Ago = ({ moment }: { moment: string }) => (
  <time className="nowrap" dateTime={moment} title={formatMoment(moment)}>
    {formatAgo(moment)}
  </time>
);
