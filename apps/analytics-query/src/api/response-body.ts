import { Readable } from 'node:stream';
import { queryError } from '../query/query-error.js';

/** Response bodies up to this size are sent whole, with a status that says how they ended; larger ones are streamed. */
const WHOLE_BYTES = 512 * 1024;
/** Text is flushed in chunks of about this size. */
const PIECE_CHARACTERS = 32 * 1024;
/** Limit for all queries of one request together. */
export const MAX_RESPONSE_BYTES = 128 * 1024 * 1024;

/** A response body that is written row by row: buffered while it is small, then streamed with backpressure. */
export class ResponseBody {
  /** Resolves with the whole body if it is small, or with a stream. Rejects if it failed before anything was sent. */
  readonly ready: Promise<Buffer | Readable>;
  private resolve: (body: Buffer | Readable) => void;
  private reject: (error: unknown) => void;
  private text = '';
  private pieces: Buffer[] = [];
  private bytes = 0;
  private stream?: Readable;

  /** @param flow pauses and resumes the rows */
  constructor(private readonly flow: { pause: () => void; resume: () => void }) {
    this.ready = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  /** @throws ApiError 400 when the body becomes too large */
  write(text: string | Buffer): void {
    if (typeof text !== 'string') {
      this.flush();
      this.add(text);
      return;
    }
    this.text += text;
    if (this.text.length >= PIECE_CHARACTERS) this.flush();
  }

  end(): void {
    this.flush();
    if (this.stream) this.stream.push(null);
    else this.resolve(Buffer.concat(this.pieces, this.bytes));
  }

  /** A stream can only be destroyed on failure: its status has been sent. */
  fail(error: unknown): void {
    if (this.stream) this.stream.destroy(error as Error);
    else this.reject(error);
  }

  private flush() {
    if (this.text === '') return;
    const piece = Buffer.from(this.text);
    this.text = '';
    this.add(piece);
  }

  private add(piece: Buffer) {
    this.bytes += piece.length;
    if (this.bytes > MAX_RESPONSE_BYTES)
      throw queryError(
        `The responses of one request may have at most ${MAX_RESPONSE_BYTES / 1024 / 1024} MB together: use smaller limits`,
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
