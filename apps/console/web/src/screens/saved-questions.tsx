import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import { get, sendRequest } from '../api/http';
import type { SavedQuestion } from '../api/types';
import { Confirm, DialogForm } from '../parts/dialog';
import { TextField } from '../parts/fields';
import { Icon } from '../parts/icon';
import { Loaded } from '../parts/loaded';
import { useNotices } from '../parts/notices';
import { Card } from '../parts/screen';
import { texts } from '../texts';

const t = texts.explore;
const API = '/api/saved-questions';
const KEY = ['saved-questions'];

/** The questions that people of the account saved, each as a link to its URL. @param params the question that is shown */
export function SavedQuestions({ cube, params }: { cube: string; params: URLSearchParams }) {
  const client = useQueryClient();
  const { say } = useNotices();
  const [isSaving, setSaving] = useState(false);
  const [deleting, setDeleting] = useState<SavedQuestion | null>(null);
  const saved = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => get<SavedQuestion[]>(API, undefined, signal),
  });
  const refresh = () => client.invalidateQueries({ queryKey: KEY });
  const shown = params.toString();
  return (
    <Card
      title={t.saved}
      note={t.savedNote}
      actions={
        <button type="button" className="button" onClick={() => setSaving(true)}>
          {t.save}
        </button>
      }
    >
      <Loaded query={saved} lines={1} isEmpty={(list) => list.length === 0} empty={<p>{t.noneSaved}</p>}>
        {(list) => (
          <ul className="actions" aria-label={t.saved}>
            {list.map((one) => (
              <li key={one.id}>
                <Link
                  className="button small"
                  to={`/explore?${one.question}`}
                  aria-current={one.question === shown ? 'page' : undefined}
                >
                  {one.name}
                </Link>
                <button
                  type="button"
                  className="quiet-button"
                  aria-label={t.deleteOf(one.name)}
                  onClick={() => setDeleting(one)}
                >
                  <Icon name="close" />
                </button>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
      {isSaving && (
        <SaveQuestion
          question={questionOf(params, cube)}
          onClose={() => setSaving(false)}
          onSaved={async (name) => {
            say(t.savedNotice(name));
            setSaving(false);
            await refresh();
          }}
        />
      )}
      <Confirm
        title={t.deleteTitle}
        text={t.deleteText(deleting?.name ?? '')}
        action={texts.delete}
        isOpen={deleting !== null}
        onClose={() => setDeleting(null)}
        onConfirm={async () => {
          await sendRequest(`${API}/${deleting!.id}`, { method: 'DELETE' });
          await refresh();
        }}
      />
    </Card>
  );
}

/** Writes out what the URL leaves to the defaults, so that the question stays the same if those change. */
function questionOf(params: URLSearchParams, cube: string): string {
  const question = new URLSearchParams(params);
  question.set('cube', cube);
  if (!question.has('from') && !question.has('dates')) question.set('dates', '30');
  return question.toString();
}

interface SaveProps {
  question: string;
  onClose: () => void;
  onSaved: (name: string) => Promise<void>;
}

function SaveQuestion({ question, onClose, onSaved }: SaveProps) {
  const [name, setName] = useState('');
  const save = async () => {
    await sendRequest(API, { method: 'POST', body: { name: name.trim(), question } });
    await onSaved(name.trim());
  };
  return (
    <DialogForm title={t.save} action={texts.save} isOpen onClose={onClose} onSubmit={save}>
      <TextField
        label={t.saveName}
        hint={t.saveText}
        required
        maxLength={100}
        value={name}
        onValue={setName}
      />
    </DialogForm>
  );
}
