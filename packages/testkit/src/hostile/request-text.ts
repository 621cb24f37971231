// A request as bytes, each line as it was given: nothing is added but what a sound message needs.

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

/** `/a/{name}` with its parameters filled in; a parameter without a value is a fault of the test. */
export function fillPath(path: string, values: { readonly [parameter: string]: string }): string {
  return path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`no value for {${name}} of ${path}: add one to the test`)
    return value
  })
}
