import { useNavigate } from 'react-router';
import { useSigning } from '../api/session';
import { texts } from '../texts';
import { useNotices } from './notices';

interface Props {
  id: string;
  /** Distinguishes several buttons for screen readers. */
  name?: string;
  /** The path of the screen to begin with. */
  to?: string;
}

/** Shows the console of an account to an operator. */
export function ViewAsClient({ id, name, to = '/' }: Props) {
  const { view } = useSigning();
  const { say } = useNotices();
  const navigate = useNavigate();
  const open = async () => {
    try {
      await view(id);
      await navigate(to);
    } catch (error) {
      say((error as Error).message, 'bad');
    }
  };
  return (
    <button
      type="button"
      className={name ? 'button small' : 'button'}
      aria-label={name && `${texts.viewing.as}: ${name}`}
      onClick={() => void open()}
    >
      {texts.viewing.as}
    </button>
  );
}
