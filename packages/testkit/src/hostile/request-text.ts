// Writes a request as bytes, with every given line unchanged. Only lines that a valid message needs are added.

export interface RequestParts {
  readonly method: string
  readonly path: string
  readonly token?: string
  readonly headers?: readonly string[]
  readonly body?: unknown
}

export function requestText({ method, path, token, headers = [], body }: RequestParts): string {
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
  return [
    `${method} ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
    ...(body === undefined ? [] : ['Content-Type: application/json']),
    ...(body === undefined && method === 'GET' ? [] : [`Content-Length: ${Buffer.byteLength(text)}`]),
    ...headers,
    '',
    text,
  ].join('\r\n')
}

/** Fills in the parameters of a path such as `/a/{name}`; throws if a parameter has no value. */
export function fillPath(path: string, values: { readonly [parameter: string]: string }): string {
  return path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`no value for {${name}} of ${path}: add one to the test`)
    return value
  })
}
