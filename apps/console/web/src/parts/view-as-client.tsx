import { useNavigate } from 'react-router';
import { useSigning } from '../api/session';
import { texts } from '../texts';
import { useNotices } from './notices';

/** Shows the console of an account to an operator. @param name distinguishes several buttons for screen readers */
export function ViewAsClient({ id, name }: { id: string; name?: string }) {
  const { view } = useSigning();
  const { say } = useNotices();
  const navigate = useNavigate();
  const open = async () => {
    try {
      await view(id);
      await navigate('/');
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
