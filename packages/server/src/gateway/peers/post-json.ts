// Sends one POST to another server replica, with a timeout and a size limit for the answer.

import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { defined } from '@holdfast/contract'
import { HEAD_PROOF } from './cluster-proof.ts'

export interface Post {
  readonly url: URL
  readonly body: string
  readonly authorization: string
  /** Proof of the head, which a body of more than 64 KiB needs. */
  readonly headProof?: string
  readonly deadlineMs: number
  readonly ca?: string
}

export interface PostAnswer {
  readonly status: number
  readonly body: string
}

const MAX_ANSWER_BYTES = 4 * 1024 * 1024

export function postJson({ url, body, authorization, headProof, deadlineMs, ca }: Post): Promise<PostAnswer> {
  const headers = {
    authorization,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...(headProof === undefined ? {} : { [HEAD_PROOF]: headProof }),
  }
  const options = { method: 'POST', headers, signal: AbortSignal.timeout(deadlineMs) }
  return new Promise((resolve, reject) => {
    const request =
      url.protocol === 'https:'
        ? requestHttps(url, { ...options, ...defined({ ca }) })
        : requestHttp(url, options)
    request.on('error', reject)
    request.on('response', (response) => {
      const chunks: Buffer[] = []
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > MAX_ANSWER_BYTES) request.destroy(new Error('the answer is too long'))
        else chunks.push(chunk)
      })
      response.on('error', reject)
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') }),
      )
    })
    request.end(body)
  })
}
