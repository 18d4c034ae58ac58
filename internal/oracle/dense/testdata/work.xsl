<?xml version="1.0"?>
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <!-- Keys, sorting, recursion, string functions. -->
  <xsl:output method="xml" indent="yes" encoding="UTF-8"/>
  <xsl:key name="by-group" match="item" use="@group"/>
  <xsl:template match="/list">
    <report>
      <xsl:for-each select="item[generate-id() = generate-id(key('by-group', @group)[1])]">
        <xsl:sort select="@group" data-type="number"/>
        <group id="{@group}" items="{count(key('by-group', @group))}" sum="{sum(key('by-group', @group)/price)}">
          <xsl:apply-templates select="key('by-group', @group)">
            <xsl:sort select="name"/>
            <xsl:sort select="price" data-type="number" order="descending"/>
          </xsl:apply-templates>
        </group>
      </xsl:for-each>
    </report>
  </xsl:template>
  <xsl:template match="item">
    <xsl:variable name="text" select="normalize-space(description)"/>
    <item id="{@id}">
      <xsl:attribute name="words"><xsl:call-template name="words"><xsl:with-param name="text" select="$text"/></xsl:call-template></xsl:attribute>
      <xsl:value-of select="translate(concat(name, ': ', substring-before($text, ' ')), 'abcdef', 'ABCDEF')"/>
      <xsl:if test="contains($text, 'seven') and not(starts-with(name, 'x'))"><lucky/></xsl:if>
      <xsl:apply-templates select="tag"/>
    </item>
  </xsl:template>
  <xsl:template match="tag"><xsl:choose>
    <xsl:when test="preceding-sibling::tag = ."><again><xsl:value-of select="."/></again></xsl:when>
    <xsl:otherwise><tag><xsl:number level="single"/><xsl:text> </xsl:text><xsl:value-of select="."/></tag></xsl:otherwise>
  </xsl:choose></xsl:template>
  <xsl:template name="words">
    <xsl:param name="text"/>
    <xsl:param name="count" select="1"/>
    <xsl:choose>
      <xsl:when test="contains($text, ' ')">
        <xsl:call-template name="words">
          <xsl:with-param name="text" select="substring-after($text, ' ')"/>
          <xsl:with-param name="count" select="$count + 1"/>
        </xsl:call-template>
      </xsl:when>
      <xsl:otherwise><xsl:value-of select="$count"/></xsl:otherwise>
    </xsl:choose>
  </xsl:template>
</xsl:stylesheet>
