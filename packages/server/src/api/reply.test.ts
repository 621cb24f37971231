import type { FastifyReply } from 'fastify'
import { expect, test } from 'vitest'
import { underTaint } from '../ports/taint.ts'
import { sendJson } from './reply.ts'

test('a response never fails because a secret equals a part of one of its sentences', async () => {
  const sent: string[] = []
  const reply = {
    code: (status: number) => {
      sent.push(String(status))
      return reply
    },
    header: () => reply,
    send: (body: string) => {
      sent.push(body)
      return reply
    },
  } as unknown as FastifyReply
  const body = JSON.stringify({ version: 1, warnings: [{ why: 'The Version Before has more keys.' }] })
  await underTaint({ values: { password: 'Version Before' } }, async () => sendJson(reply, 201, body))
  expect(sent).toEqual(['201', '{"version":1,"warnings":[{"why":"<redacted>"}]}'])
})
