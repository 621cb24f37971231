// The unit of cost: an empty POST request to Fastify, which parses a small JSON body and answers with one.

import fastify from 'fastify'
import { charge, type HotPath, inParallel } from './hot-path.ts'

export function emptyPosts(): HotPath {
  const http = fastify()
  http.post('/', async () => ({}))
  const post = async (): Promise<void> => {
    const { statusCode } = await http.inject({ method: 'POST', url: '/', payload: {} })
    if (statusCode !== 200) throw new Error(`an empty request was answered with ${statusCode}`)
  }
  return { run: (operations) => charge(operations, () => inParallel(operations, 64, post)) }
}
