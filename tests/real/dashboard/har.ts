// Reads the record of a browser's traffic (HAR) and finds the places at which a text occurs. A person attaches such a file to a
// report, so a secret in it is a leak, with three exceptions that no page can avoid: the request that sends what the person
// typed, the response that answers a new token once, and the cookie headers of the sign-in.

import { readFileSync } from 'node:fs'

interface Named {
  readonly name: string
  readonly value: string
}

interface Entry {
  readonly request: {
    readonly method: string
    readonly url: string
    readonly headers: readonly Named[]
    readonly postData?: { readonly text: string }
  }
  readonly response: {
    readonly headers: readonly Named[]
    readonly content: { readonly text?: string; readonly encoding?: string }
  }
}

interface Har {
  readonly log: { readonly entries: readonly Entry[] }
}

export const readHar = (path: string): Har => JSON.parse(readFileSync(path, 'utf8'))

/** The places of a text, such as `PUT /api/v1/secrets/resources/smtp request body`, each once. */
export function placesOf(har: Har, text: string): string[] {
  return [...new Set(har.log.entries.flatMap((entry) => placesIn(entry, text)))].sort()
}

function placesIn({ request, response }: Entry, text: string): string[] {
  const { pathname } = new URL(request.url)
  const named = (headers: readonly Named[]) => headers.map(({ name, value }) => [`${name} header`, value])
  const { content } = response
  const body =
    content.encoding === 'base64' ? Buffer.from(content.text ?? '', 'base64').toString() : content.text
  const parts = [
    ['address', decodeURIComponent(request.url)],
    ...named(request.headers).map(([name, value]) => [`request ${name}`, value]),
    ['request body', request.postData?.text],
    ...named(response.headers).map(([name, value]) => [`response ${name}`, value]),
    ['response body', body],
  ]
  return parts
    .filter(([, value]) => value?.includes(text))
    .map(([place]) => `${request.method} ${pathname} ${place?.toLowerCase()}`)
}
