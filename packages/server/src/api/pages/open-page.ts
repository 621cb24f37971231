// The type of a page that can be read without an API token.

export interface PageResponse {
  readonly status: number
  readonly type: string
  readonly body: string
  readonly headers?: { readonly [name: string]: string }
}

/** A page that can be read without an API token. */
export interface OpenPage {
  /** Path of the page with parameters in braces, in the same form as the path of an endpoint. */
  readonly path: string
  /** Id of the operation in the OpenAPI document, which lists only pages that have one. */
  readonly operation?: string
  readonly summary: string
  /** Media type of the page. */
  readonly type: string
  /** Meaning of a 503 response of the page; absent if the page never returns a 503. */
  readonly unavailable?: string
  /** Returns the content of the page, or undefined if the page does not exist. */
  render(
    params: { readonly [name: string]: string },
    query: URLSearchParams,
  ): Promise<PageResponse | undefined>
}
