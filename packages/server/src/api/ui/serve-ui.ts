// Serves the files of the dashboard below /ui/, without authentication.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AnswerUi } from './answer-ui.ts'

/** Routes of the dashboard, as the router names them. */
export const UI_URLS: readonly string[] = ['/ui', '/ui/*']

export function serveUi(
  app: FastifyInstance,
  answer: AnswerUi,
  sendUnknown: (request: FastifyRequest, reply: FastifyReply) => FastifyReply,
): void {
  for (const url of UI_URLS)
    app.route({
      method: ['GET', 'HEAD'],
      url,
      handler: async (request, reply) => {
        const path = (request.url.split(/[?#]/)[0] ?? '').replace(/^\/ui\/?/, '')
        const response = answer({
          path,
          acceptEncoding: String(request.headers['accept-encoding'] ?? ''),
          ifNoneMatch: request.headers['if-none-match'],
        })
        if (response === undefined) return sendUnknown(request, reply)
        const { status, headers, body } = response
        return reply
          .code(status)
          .headers(headers)
          .send(typeof body === 'string' ? body : Buffer.from(body))
      },
    })
}
