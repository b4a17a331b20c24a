import { Readable } from 'node:stream';
import { queryError } from '../query/query-error.js';

/** An answer up to this size is sent whole, with a status that says how it ended; a larger one is sent as it is made. */
const WHOLE_BYTES = 512 * 1024;
/** Text is passed on in pieces of about this size. */
const PIECE_CHARACTERS = 32 * 1024;
/** Of one request, all its queries together. */
export const MAX_ANSWER_BYTES = 128 * 1024 * 1024;

/** The body of an answer while its rows arrive: in memory as long as it is small, then as fast as its reader takes it. */
export class AnswerBody {
  /** The whole of a small answer, or a large one from its beginning. Rejects when it failed before anything was sent. */
  readonly ready: Promise<Buffer | Readable>;
  private resolve: (body: Buffer | Readable) => void;
  private reject: (error: unknown) => void;
  private text = '';
  private pieces: Buffer[] = [];
  private bytes = 0;
  private stream?: Readable;

  /** @param flow holds the rows up, and lets them go on */
  constructor(private readonly flow: { pause: () => void; resume: () => void }) {
    this.ready = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  /** @throws DomainError 400 when the answer becomes too large */
  write(text: string): void {
    this.text += text;
    if (this.text.length >= PIECE_CHARACTERS) this.flush();
  }

  end(): void {
    this.flush();
    if (this.stream) this.stream.push(null);
    else this.resolve(Buffer.concat(this.pieces, this.bytes));
  }

  /** What has been begun can only be broken off: its status has been sent. */
  fail(error: unknown): void {
    if (this.stream) this.stream.destroy(error as Error);
    else this.reject(error);
  }

  private flush() {
    const piece = Buffer.from(this.text);
    this.text = '';
    this.bytes += piece.length;
    if (this.bytes > MAX_ANSWER_BYTES)
      throw queryError(
        `The answers of one request may have at most ${MAX_ANSWER_BYTES / 1024 / 1024} MB together: give smaller limits`,
      );
    if (this.stream) return this.push(piece);
    this.pieces.push(piece);
    if (this.bytes <= WHOLE_BYTES) return;
    this.stream = new Readable({ read: () => this.flow.resume(), highWaterMark: WHOLE_BYTES });
    for (const each of this.pieces.splice(0)) this.push(each);
    this.resolve(this.stream);
  }

  private push(piece: Buffer) {
    if (!this.stream!.push(piece)) this.flow.pause();
  }
}
