// The page to open after sign-in, from the address. Only pages of this dashboard: a link must not lead elsewhere.

export function safeNext(next: string | undefined): string {
  const path = next?.replace(/^\/ui(?=\/|$)/, '') ?? ''
  return /^\/t\/[\w/.~%-]*$/.test(path) ? path : '/'
}
