import DefaultTheme from "vitepress/theme-without-fonts";
import type { Theme } from "vitepress";
import Home from "./Home.vue";
import "./style.css";

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }) => void app.component("Home", Home),
} satisfies Theme;
