import { formatAgo, formatMoment } from '../format';

/** Shows how long ago something happened; its tooltip has the exact time. */
export const Ago = ({ moment }: { moment: string }) => (
  <time className="nowrap" dateTime={moment} title={formatMoment(moment)}>
    {formatAgo(moment)}
  </time>
);
