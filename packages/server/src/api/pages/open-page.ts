// A page that anybody may read: health, metrics where configuration opens them, the OpenAPI document, the reference.

export interface PageAnswer {
  readonly status: number
  readonly type: string
  readonly body: string
}

export interface OpenPage {
  /** With parameters in braces, like an endpoint's. */
  readonly path: string
  readonly summary: string
  /** Media type of the page. */
  readonly type: string
  /** What a 503 of this page says; absent: it answers none. */
  readonly unwell?: string
  /** Undefined: there is no such page. */
  render(params: { readonly [name: string]: string }): Promise<PageAnswer | undefined>
}

export const jsonPage = (status: number, body: unknown): PageAnswer => ({
  status,
  type: 'application/json; charset=utf-8',
  body: JSON.stringify(body),
})
