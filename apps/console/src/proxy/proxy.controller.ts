import { All, Controller, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { ApiError } from '@perkway/domain';
import type { FastifyReply } from 'fastify';
import { HOSTS, type Host } from '../fleet/fleet-addresses.js';
import type { SignedInRequest } from '../sessions/session.js';
import { refuseWhileViewing, WhileViewing } from '../sessions/viewing.js';
import { operationOf } from './operations.js';
import { ProxyService } from './proxy.service.js';

const ADDRESS = new RegExp(`^/api/(${Object.keys(HOSTS).join('|')})(/[^?]*)(?:\\?(.*))?$`);

/** The route of this controller that accepts files. */
export const UPLOAD_ROUTE = '/api/gift/*';

/** Passes calls on to the fleet with the session's key. The hosts' own OpenAPI documents describe them. */
@ApiExcludeController()
@Controller()
export class ProxyController {
  constructor(private readonly proxy: ProxyService) {}

  @WhileViewing()
  @All(Object.keys(HOSTS).map((host) => `api/${host}/*`))
  async pass(@Req() request: SignedInRequest, @Res() reply: FastifyReply): Promise<void> {
    const [, host, path, query = ''] = ADDRESS.exec(request.url) ?? [];
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const operation = host === undefined ? undefined : operationOf(host as Host, method, path!);
    if (!operation) throw new ApiError('NOT_FOUND');
    const session = request.session!;
    if (!operation.roles.includes(session.role)) throw new ApiError('FORBIDDEN');
    if (operation.isChange) refuseWhileViewing(session);
    await this.proxy.pass(session, operation, { path: path!, query }, request, reply);
  }
}
