/** The console's pages of code search. */
import type { ServicePages } from "../pages.ts";
import { FilePage } from "./file-page.tsx";
import { RepositoriesPage } from "./repositories-page.tsx";
import { SearchPage } from "./search-page.tsx";

export default {
  pages: [
    { id: "search", component: SearchPage },
    { id: "repositories", component: RepositoriesPage },
    { id: "file", path: "files/:repository/:path*", component: FilePage },
  ],
} satisfies ServicePages;
